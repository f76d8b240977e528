use proptest::prelude::*;

use super::*;

const CII: &str = r#"<?xml version="1.0"?>
<q:CrossIndustryInvoice xmlns:q="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" xmlns:r="urn:r" xmlns:u="urn:u">
 <q:ExchangedDocument><r:ID> M-17 </r:ID>
  <r:IssueDateTime><u:DateTimeString format="102">20240305</u:DateTimeString></r:IssueDateTime></q:ExchangedDocument>
 <q:SupplyChainTradeTransaction>
  <r:IncludedSupplyChainTradeLineItem>
   <r:SpecifiedTradeProduct><r:Name>Flour</r:Name></r:SpecifiedTradeProduct>
   <r:SpecifiedLineTradeAgreement><r:NetPriceProductTradePrice><r:ChargeAmount>50.00</r:ChargeAmount>
    <r:BasisQuantity>100</r:BasisQuantity></r:NetPriceProductTradePrice></r:SpecifiedLineTradeAgreement>
   <r:SpecifiedLineTradeDelivery><r:BilledQuantity>200.0000</r:BilledQuantity></r:SpecifiedLineTradeDelivery>
   <r:SpecifiedLineTradeSettlement><r:ApplicableTradeTax><r:RateApplicablePercent>7.00</r:RateApplicablePercent></r:ApplicableTradeTax>
    <r:SpecifiedTradeSettlementLineMonetarySummation><r:LineTotalAmount>100.00</r:LineTotalAmount></r:SpecifiedTradeSettlementLineMonetarySummation>
   </r:SpecifiedLineTradeSettlement></r:IncludedSupplyChainTradeLineItem>
  <r:ApplicableHeaderTradeAgreement><r:SellerTradeParty><r:Name>Mill &amp; Sons</r:Name>
   <r:PostalTradeAddress><r:PostcodeCode>12345</r:PostcodeCode><r:LineOne>Am Bach 1</r:LineOne><r:CityName>Ort</r:CityName></r:PostalTradeAddress>
   <r:SpecifiedTaxRegistration><r:ID schemeID="FC">1/2</r:ID></r:SpecifiedTaxRegistration>
   <r:SpecifiedTaxRegistration><r:ID schemeID="VA">DE1</r:ID></r:SpecifiedTaxRegistration></r:SellerTradeParty>
  </r:ApplicableHeaderTradeAgreement>
  <r:ApplicableHeaderTradeSettlement><r:InvoiceCurrencyCode>EUR</r:InvoiceCurrencyCode>
   <r:SpecifiedTradeSettlementHeaderMonetarySummation><r:TaxBasisTotalAmount>100.00</r:TaxBasisTotalAmount>
    <r:TaxTotalAmount currencyID="CHF">6.80</r:TaxTotalAmount><r:TaxTotalAmount currencyID="EUR">7.00</r:TaxTotalAmount>
    <r:GrandTotalAmount>107.00</r:GrandTotalAmount><r:DuePayableAmount>7.00</r:DuePayableAmount>
   </r:SpecifiedTradeSettlementHeaderMonetarySummation></r:ApplicableHeaderTradeSettlement>
 </q:SupplyChainTradeTransaction></q:CrossIndustryInvoice>"#;

const UBL: &str = r#"<CreditNote xmlns="urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2" xmlns:b="urn:b" xmlns:a="urn:a">
 <b:ID>C-1</b:ID><b:IssueDate>2024-03-05</b:IssueDate><b:DocumentCurrencyCode>EUR</b:DocumentCurrencyCode>
 <a:AccountingSupplierParty><a:Party><a:PartyName><b:Name>The Mill</b:Name></a:PartyName>
  <a:PartyLegalEntity><b:RegistrationName>Mill GmbH</b:RegistrationName></a:PartyLegalEntity></a:Party></a:AccountingSupplierParty>
 <a:TaxTotal><b:TaxAmount currencyID="EUR">1.90</b:TaxAmount></a:TaxTotal>
 <a:LegalMonetaryTotal><b:TaxExclusiveAmount>10.00</b:TaxExclusiveAmount><b:TaxInclusiveAmount>11.90</b:TaxInclusiveAmount></a:LegalMonetaryTotal>
 <a:CreditNoteLine><b:CreditedQuantity>2</b:CreditedQuantity><b:LineExtensionAmount>10.00</b:LineExtensionAmount>
  <a:Item><b:Name>Bran</b:Name></a:Item><a:Price><b:PriceAmount>5.00</b:PriceAmount></a:Price></a:CreditNoteLine></CreditNote>"#;

#[test]
fn cii_gives_the_fields_of_an_invoice() {
    let found = invoice(CII.as_bytes()).unwrap();
    let data = &found.data;
    assert_eq!(data["invoice_number"], "M-17");
    assert_eq!(data["invoice_date"], "2024-03-05");
    assert_eq!(data["seller_name"], "Mill & Sons");
    assert_eq!(data["seller_address"], "Am Bach 1, 12345 Ort");
    assert_eq!(data["seller_tax_id"], "DE1");
    assert_eq!(data["tax_total"], "7.00");
    assert_eq!(data["total_amount"], "107.00");
    assert_eq!(data["items"][0]["unit_price"], "0.50");
    assert_eq!(data["items"][0]["quantity"], "200");
    let date = &found.fields["invoice_date"].evidence[0];
    assert_eq!(date.span.as_deref(), Some("20240305"));
    let path = "q:CrossIndustryInvoice/q:ExchangedDocument/r:IssueDateTime/u:DateTimeString";
    assert_eq!(date.path.as_deref(), Some(path));
    assert!(found.fields.contains_key("items[0].net_amount"));
}

#[test]
fn ubl_gives_the_fields_of_a_credit_note() {
    let found = invoice(UBL.as_bytes()).unwrap();
    assert_eq!(found.data["seller_name"], "Mill GmbH");
    assert_eq!(found.data["total_amount"], "11.90");
    assert_eq!(found.data["items"][0]["description"], "Bran");
    assert!(is_invoice(format!("<Envelope>{UBL}</Envelope>").as_bytes()));
}

#[test]
fn other_data_is_no_invoice() {
    assert!(!is_invoice(b"<Invoice><Number>1</Number></Invoice>"));
    assert!(!is_invoice(b"<Invoice xmlns='urn:other'/>"));
    assert!(!is_invoice(b"not XML"));
    assert_eq!(invoice(&CII.as_bytes()[..CII.len() - 40]), None);
}

proptest! {
    #[test]
    fn any_bytes_give_an_invoice_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        invoice(&bytes);
    }

    #[test]
    fn any_damage_gives_an_invoice_or_none(at in 0..CII.len(), byte in any::<u8>(), cut in 0..CII.len()) {
        let mut bytes = CII.as_bytes().to_vec();
        bytes[at] = byte;
        invoice(&bytes);
        bytes.truncate(cut);
        invoice(&bytes);
    }
}
